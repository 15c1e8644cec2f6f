/** Section `authorities` of config.yaml: certificates that are trusted for the hosts of credentials. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { path, section } from '../../../../kernel/settings/section.ts';
import { Fault } from '../../../../model/fault.ts';

export const credentialConfig = [
  section('authorities', {
    schema: z
      .array(path)
      .max(100)
      .optional()
      .meta({
        description:
          'Files with certificates in PEM that are trusted for the hosts of credentials, besides the well-known authorities.',
        default: [],
        examples: [['/etc/ssl/company-ca.pem']],
      }),
    /** The certificates, in PEM. */
    read: (files, at): { authorities: readonly string[] } => ({
      authorities: at('authorities', () => (files ?? []).map(readAuthority)),
    }),
  }),
] as const;

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new Fault('invalid', `authorities: ${file} has no certificate: ${(error as Error).message}`, {
      hint: 'Name a file with certificates in PEM.',
      cause: error,
    });
  }
}
