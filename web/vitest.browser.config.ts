import { defineConfig } from 'vitest/config';
import { gzipBase64 } from './vite.plugins.ts';

export default defineConfig({
  plugins: [gzipBase64()],
  test: {
    include: ['**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
