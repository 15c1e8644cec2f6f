// @needs root
import { describe } from 'vitest';
import { network, openServers } from './network.ts';

openServers();

describe('a network, rootless', () => network('rootless'));
