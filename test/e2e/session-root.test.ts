// @takes 30 s
import { describe } from 'vitest';
import { sessionsThroughDaemon } from './session.ts';

describe('sessions', () => sessionsThroughDaemon('root'));
