// @needs root
import { describe } from 'vitest';
import { flood, network, openServers } from './network.ts';

openServers();

describe('a network, docker', () => network('docker'));
describe('a flood from one sandbox, docker', () => flood('docker'));
