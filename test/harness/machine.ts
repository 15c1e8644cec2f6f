import { readFileSync } from 'node:fs';

/** True: the account is root of the machine, not just of a user namespace. */
export const isRealRoot = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'));

/** CARREL_TEST_ALL=1: suites also run where they take minutes and have rarely found anything new. */
export const isRepeated = process.env.CARREL_TEST_ALL === '1';
