import { Fault } from './fault.ts';
import { formatSize } from './size.ts';

/** What a sandbox may use. Swap is the total of memory and swap, as cgroups count it. */
export interface Limits {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly pids: number;
  readonly diskBytes: number;
}

/** The option of each limit. */
export const limitOptions: { readonly [key in keyof Limits]: string } = {
  cpus: '--cpus',
  memoryBytes: '--memory',
  swapBytes: '--swap',
  pids: '--pids',
  diskBytes: '--disk',
};

/** `--cpus, --memory` */
export function optionsOf(limits: readonly (keyof Limits)[]): string {
  return limits.map((key) => limitOptions[key]).join(', ');
}

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;

export const defaultLimits: Limits = {
  cpus: 2,
  memoryBytes: 4 * GiB,
  swapBytes: 8 * GiB,
  pids: 512,
  diskBytes: 8 * GiB,
};

/** The smallest values that can run a shell, and the largest that a kernel accepts. */
const bounds: { readonly [key in keyof Limits]: readonly [min: number, max: number] } = {
  cpus: [0.01, 4096],
  memoryBytes: [6 * MiB, 1024 ** 5],
  swapBytes: [6 * MiB, 1024 ** 5],
  pids: [4, 4_000_000],
  diskBytes: [1 * MiB, 1024 ** 5],
};

/** The requested limits over the defaults, checked. If memory is requested without swap, swap is twice the memory. */
export function resolveLimits(requested: Partial<Limits>, defaults: Limits = defaultLimits): Limits {
  const merged = { ...defaults, ...requested };
  const limits = requested.swapBytes === undefined ? { ...merged, swapBytes: implicitSwap(merged, defaults) } : merged;
  for (const key of Object.keys(bounds) as (keyof Limits)[]) checkBound(key, limits[key]);
  if (limits.swapBytes < limits.memoryBytes) {
    throw new Fault('invalid', 'limits.swapBytes: swap counts memory and swap together, so it cannot be below memory', {
      hint: 'Raise --swap to at least the value of --memory, or leave it out.',
      data: { field: 'limits.swapBytes' },
    });
  }
  return limits;
}

function implicitSwap(limits: Limits, defaults: Limits): number {
  if (limits.memoryBytes === defaults.memoryBytes) return defaults.swapBytes;
  return Math.min(limits.memoryBytes * 2, bounds.swapBytes[1]);
}

function checkBound(key: keyof Limits, value: number): void {
  const [min, max] = bounds[key];
  if (Number.isFinite(value) && value >= min && value <= max) return;
  const shown = key.endsWith('Bytes') ? formatSize : String;
  const field = `limits.${key}`;
  throw new Fault('invalid', `${field}: ${shown(value)} is out of range`, {
    hint: `Between ${shown(min)} and ${shown(max)}.`,
    data: { field },
  });
}
