/** The docker engine keeps the contract, on a dockerd of its own. */
import { afterAll, beforeAll } from 'vitest';
import { engineConformance, mountConformance } from '../conformance/engine.ts';
import { dockerSetup } from '../harness/docker-engine.ts';
import { Dockerd } from '../harness/dockerd.ts';

let dockerd: Dockerd;

beforeAll(async () => {
  dockerd = await Dockerd.open();
});

afterAll(() => dockerd.dispose());

engineConformance('docker', () => dockerSetup(dockerd));
mountConformance('docker', () => dockerSetup(dockerd));
