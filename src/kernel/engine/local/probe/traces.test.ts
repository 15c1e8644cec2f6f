import { expect, it } from 'vitest';
import { mountTraces } from './traces.ts';

it('mountTraces lists only the mounts whose path has the id of the sandbox', () => {
  const info = '22 1 0:21 / /proc rw - proc proc rw\n90 22 0:50 / /stage/0123456789abcdef rw - tmpfs carrel rw\n';
  expect(mountTraces('0123456789abcdef', info)).toEqual(['mount on /stage/0123456789abcdef']);
  expect(mountTraces('fedcba9876543210', info)).toEqual([]);
});
