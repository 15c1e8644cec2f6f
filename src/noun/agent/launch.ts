import type { SandboxPart } from '../sandbox/part/part.ts';
import { programMount } from './model/agent.ts';

/** Mounts the program of an agent that is on this machine but not below /usr. */
export const agentProgram: SandboxPart = {
  additions: ({ spec: { program: source } }) =>
    source ? { mounts: [{ kind: 'bind', source, target: programMount(source), readonly: true }] } : {},
};
