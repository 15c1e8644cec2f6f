import { describe } from 'vitest';
import { isRealRoot } from '../harness/machine.ts';
import { workingCopies } from './workspace.ts';

describe('a working copy', () => workingCopies(isRealRoot ? 'root' : 'rootless'));
