/** Sections `runtime`, `limits` and `logs` of config.yaml: what sandboxes get if a request does not say. */
import { z } from 'zod';
import { type At, bytes, rotation, rotationOf, section, sizeKey } from '../../../kernel/settings/section.ts';
import { runtimeNames } from '../../../model/engine.ts';
import { defaultLimits, type Limits, resolveLimits } from '../../../model/limits.ts';

const limits = z
  .strictObject({
    cpus: z.number().meta({ description: 'Processors.', default: defaultLimits.cpus, examples: [1.5] }),
    memory: sizeKey('Memory.', defaultLimits.memoryBytes, '2g'),
    swap: sizeKey('Memory and swap together.', defaultLimits.swapBytes, '4g'),
    pids: z.int().meta({ description: 'Processes and threads.', default: defaultLimits.pids, examples: [256] }),
    disk: sizeKey('Disk space.', defaultLimits.diskBytes, '20g'),
  })
  .partial()
  .describe('What a sandbox may use where neither the command nor a `carrel.yaml` names a limit.');

export const sandboxConfig = [
  section('runtime', {
    schema: z
      .enum(runtimeNames)
      .optional()
      .meta({ description: 'The OCI runtime. Default: the first that is installed.', examples: ['crun'] }),
    read: (runtime) => ({ runtime: runtime ?? null }),
  }),
  section('limits', { schema: limits.optional(), read: (content, at) => ({ limits: limitsOf(content, at) }) }),
  section('logs', {
    schema: rotation.optional().describe('The output of each sandbox.'),
    read: (content, at) => ({ log: at('logs.size', () => rotationOf(content, 'logs')) }),
    atStart: { log: 'logs' },
  }),
] as const;

function limitsOf(content: z.output<typeof limits> | undefined, at: At): Limits {
  const { cpus, memory, swap, pids, disk } = content ?? {};
  const size = (value: string | number, name: string) => at(`limits.${name}`, () => bytes(value, `limits.${name}`));
  const wanted = {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memory === undefined ? {} : { memoryBytes: size(memory, 'memory') }),
    ...(swap === undefined ? {} : { swapBytes: size(swap, 'swap') }),
    ...(pids === undefined ? {} : { pids }),
    ...(disk === undefined ? {} : { diskBytes: size(disk, 'disk') }),
  };
  return at('limits', () => resolveLimits(wanted, defaultLimits));
}
