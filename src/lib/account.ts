import { userInfo } from 'node:os';

/** Whose process this is: by name, or by number where the system has no name for it, as in many containers. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}
