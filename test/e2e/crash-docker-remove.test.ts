import { describe } from 'vitest';
import { dockerGround } from '../harness/crash-ground.ts';
import { crashes } from './crash.ts';

describe('a daemon that is killed, with the docker engine', () =>
  crashes(dockerGround(), {
    startAgain: ['after:clear', 'after:renew', 'start:created', 'after:start'],
    remove: [
      ...['after:stop', 'after:conclude', 'remove:container'],
      ...['after:clear', 'forget:folder', 'after:forget'],
    ],
  }));
