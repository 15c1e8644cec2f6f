import { randomInt } from 'node:crypto';

const first =
  'amber brisk calm clear deft eager fair fresh glad keen kind light lucid mellow neat quick quiet ready sound steady sunny swift tidy warm wise'.split(
    ' ',
  );
const second =
  'alder aspen birch cedar elm fern hazel heron iris juniper larch laurel linden lotus maple myrtle oak olive osprey pine quince robin rowan sage wren'.split(
    ' ',
  );

/** A name that people can say, with a number after three tries. */
export function suggestName(isTaken: (name: string) => boolean): string {
  for (let tries = 0; ; tries += 1) {
    const name = `${first[randomInt(first.length)]}-${second[randomInt(second.length)]}`;
    const numbered = tries < 3 ? name : `${name}-${randomInt(10_000)}`;
    if (!isTaken(numbered)) return numbered;
  }
}
