import type { View } from '../view';
import { layer } from './layer';
import { overview } from './overview';

/** All views, in the order of the navigation; the first that has something to show opens. */
export const views: View[] = [overview, layer];
