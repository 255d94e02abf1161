/** The door to the core: `openCore()`, then the functions of `Core`. */

export * from './documents';
export * from './types';
export { openCore, type OpenOptions } from './open';
