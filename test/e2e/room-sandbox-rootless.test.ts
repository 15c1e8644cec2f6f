import { describe } from 'vitest';
import { roomsInSandboxes } from './room-sandbox.ts';

describe('rooms in sandboxes, rootless', () => roomsInSandboxes('rootless'));
