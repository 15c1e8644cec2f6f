import { describe } from 'vitest';
import { flood, network } from './network.ts';

describe('a network, docker', () => network('docker'));
describe('a flood from one sandbox, docker', () => flood('docker'));
