// @needs root
// @takes 30 s
import { describe } from 'vitest';
import { workingCopies } from './workspace.ts';

describe('a working copy, docker', () => workingCopies('docker'));
