// @needs root
// @takes 25 s
import { describe } from 'vitest';
import { dockerTestbed } from '../harness/crash-testbed.ts';
import { crashes } from './crash.ts';

describe('a daemon that is killed, with the docker engine', () =>
  crashes(dockerTestbed(), {
    startAgain: ['after:clear', 'after:renew', 'start:created', 'after:start'],
    remove: [
      ...['after:stop', 'after:conclude', 'remove:container'],
      ...['after:clear', 'forget:folder', 'after:forget'],
    ],
  }));
