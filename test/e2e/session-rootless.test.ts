// @needs root
import { describe } from 'vitest';
import { sessionsThroughDaemon } from './session.ts';

describe('sessions, rootless', () => sessionsThroughDaemon('rootless'));
