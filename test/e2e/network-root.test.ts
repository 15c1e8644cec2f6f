// @needs root
// @takes 25 s
import { describe } from 'vitest';
import { flood, network, openServers, usedUp } from './network.ts';

openServers();

describe('a network, root', () => network('root'));
describe('a flood from one sandbox, root', () => flood('root'));
describe('a sandbox that has used up what it may send and receive', usedUp);
