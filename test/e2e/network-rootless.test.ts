import { describe } from 'vitest';
import { network } from './network.ts';

describe('a network, rootless', () => network('rootless'));
