/** The mounts of a sandbox, from its /proc/self/mountinfo. */

export interface MountLine {
  readonly point: string;
  readonly options: readonly string[];
}

export function parseMountInfo(text: string): MountLine[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' - ')[0]!.split(' ');
    if (fields.length < 6) return [];
    return [{ point: fields[4]!, options: fields[5]!.split(',') }];
  });
}

/** The mount that contains a path: the deepest one, and of several at one mount point the last. */
function mountOf(mounts: readonly MountLine[], path: string): MountLine | null {
  const covers = ({ point }: MountLine) => point === '/' || path === point || path.startsWith(`${point}/`);
  return mounts.filter(covers).reduce<MountLine | null>((best, one) => deeper(best, one), null);
}

function deeper(best: MountLine | null, one: MountLine): MountLine {
  return best === null || one.point.length >= best.point.length ? one : best;
}

export function isReadOnly(mounts: readonly MountLine[], path: string): boolean {
  return mountOf(mounts, path)?.options.includes('ro') ?? false;
}
