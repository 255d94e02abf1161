import type { View } from '../view';
import { files } from './files';
import { graph } from './graph';
import { layer } from './layer';
import { mixer } from './mixer';
import { overview } from './overview';
import { study } from './study';

/** All views, in the order of the navigation; the first that has something to show opens. */
export const views: View[] = [overview, study, layer, mixer, graph, files];
