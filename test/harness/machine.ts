import { readFileSync } from 'node:fs';

/** Root of the machine, not just of a user namespace. */
export const isRealRoot = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'));
