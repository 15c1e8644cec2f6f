import { describe } from 'vitest';
import { isRealRoot } from '../harness/machine.ts';
import { oddInput } from './workspace-input.ts';

const way = isRealRoot ? 'root' : 'rootless';

describe(`as ${way}`, () => oddInput(way));
