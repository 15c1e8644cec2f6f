import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { Fault } from '../model/fault.ts';
import type { Hook } from './launch.ts';

/** The project as `/workspace`: in mode bind the real folder, live both ways. */
export const project: Hook = {
  surroundings: ({ spec }) => {
    if (spec.project === null) return {};
    return {
      cwd: '/workspace',
      mounts: [
        { kind: 'bind', source: spec.project, target: '/.workspace', readonly: true, mapOwner: true },
        { kind: 'bind', source: spec.project, target: '/workspace', readonly: false, mapOwner: true },
      ],
      env: { AGENT_CWD: '/workspace', PROJECT_ID: basename(spec.project) },
    };
  },
  prepare: ({ spec }) => {
    if (spec.project !== null && !statSync(spec.project, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Fault('invalid', `the project ${spec.project} is not a folder`, {
        hint: 'It may have been moved or deleted.',
      });
    }
  },
};
