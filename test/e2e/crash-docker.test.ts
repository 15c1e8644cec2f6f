// @needs root
// @takes 25 s
import { describe } from 'vitest';
import { dockerTestbed, podmanTestbed } from '../harness/crash-testbed.ts';
import { isRepeated } from '../harness/machine.ts';
import { crashes } from './crash.ts';

describe('a daemon that is killed, with the docker engine', () =>
  crashes(dockerTestbed(), {
    create: [
      ...['start:prepared', 'start:staged', 'start:created'],
      ...['start:begun', 'start:started', 'after:start'],
    ],
    stop: ['after:stop', 'conclude:recorded', 'after:conclude'],
    starved: 'oom',
  }));

/** Only the points at which the engine matters. Podman 4.3 does not find conmon's note that memory ran out. */
describe.each(isRepeated ? ['podman'] : [])('on %s', () =>
  crashes(podmanTestbed, { create: ['start:created'], remove: ['remove:container'], starved: 'killed by SIGKILL' }),
);
