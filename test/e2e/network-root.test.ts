import { describe } from 'vitest';
import { flood, network, usedUp } from './network.ts';

describe('a network, root', () => network('root'));
describe('a flood from one sandbox, root', () => flood('root'));
describe('a sandbox that has used up what it may send and receive', usedUp);
