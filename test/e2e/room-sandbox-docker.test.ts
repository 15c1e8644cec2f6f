import { describe } from 'vitest';
import { roomsInSandboxes } from './room-sandbox.ts';

describe('rooms in sandboxes, docker', () => roomsInSandboxes('docker'));
