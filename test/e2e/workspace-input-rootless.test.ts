// @needs root
import { describe } from 'vitest';
import { oddInput } from './workspace-input.ts';

describe('as rootless', () => oddInput('rootless'));
