import { describe } from 'vitest';
import programs from '../../scripts/programs.json' with { type: 'json' };
import { sessionsThroughDaemon } from './session.ts';

const hasProgram = (programs as string[]).includes('agent/session/main');

describe.runIf(hasProgram)('sessions', () => sessionsThroughDaemon('root'));
