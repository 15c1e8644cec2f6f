import { userInfo } from 'node:os';

/** The account of this process: its name, or its number if the system has no name for it, as in many containers. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}
