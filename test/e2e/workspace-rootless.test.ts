// @needs root
import { describe } from 'vitest';
import { workingCopies } from './workspace.ts';

describe('a working copy, rootless', () => workingCopies('rootless'));
