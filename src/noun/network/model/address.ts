/**
 * The class of an address. A sandbox reaches an address outside of the public Internet only if a rule names it exactly.
 */
import { BlockList } from 'node:net';

export type AddressClass =
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'shared'
  | 'multicast'
  | 'translated'
  | 'reserved';

type Ranges = readonly (readonly [address: string, prefix: number])[];

/** The first range that contains an address wins. */
const ranges: readonly (readonly [AddressClass, Ranges])[] = [
  [
    'metadata',
    [
      ['169.254.169.254', 32],
      ['169.254.170.2', 32],
      ['169.254.170.23', 32],
      ['168.63.129.16', 32],
      ['100.100.100.200', 32],
      ['192.0.0.192', 32],
      ['fd00:ec2::254', 128],
      ['fd00:ec2::23', 128],
      ['fd20:ce::254', 128],
    ],
  ],
  [
    'loopback',
    [
      ['127.0.0.0', 8],
      ['::1', 128],
    ],
  ],
  [
    'private',
    [
      ['10.0.0.0', 8],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['fc00::', 7],
      ['fec0::', 10],
    ],
  ],
  [
    'link-local',
    [
      ['169.254.0.0', 16],
      ['fe80::', 10],
    ],
  ],
  ['shared', [['100.64.0.0', 10]]],
  [
    'multicast',
    [
      ['224.0.0.0', 4],
      ['ff00::', 8],
    ],
  ],
  [
    'translated',
    [
      ['::', 96],
      ['::ffff:0:0:0', 96],
      ['64:ff9b::', 96],
      ['64:ff9b:1::', 48],
      ['2002::', 16],
      ['2001::', 32],
      ['192.88.99.0', 24],
    ],
  ],
  [
    'reserved',
    [
      ['0.0.0.0', 8],
      ['192.0.0.0', 24],
      ['192.0.2.0', 24],
      ['198.18.0.0', 15],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      ['240.0.0.0', 4],
      ['2001::', 23],
      ['2001:db8::', 32],
      ['3fff::', 20],
    ],
  ],
];

const lists = ranges.map(([name, all]) => [name, blockList(all)] as const);
/** The only part of IPv6 that is assigned. */
const global6 = blockList([['2000::', 3]]);

/** Null: an address of the public Internet. Expects the spelling of `parseHost`. */
export function addressClass(address: string, family: 4 | 6): AddressClass | null {
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const found = lists.find(([, list]) => list.check(address, type));
  if (found) return found[0];
  return family === 6 && !global6.check(address, 'ipv6') ? 'reserved' : null;
}

function blockList(all: Ranges): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of all) list.addSubnet(address, prefix, address.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}
