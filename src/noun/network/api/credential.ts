/** What requests and answers about credentials look like. */
import { z } from 'zod';
import { secretName } from '../../user/api/secret.ts';
import { presetNames } from '../model/credential.ts';

const preset = z.enum(presetNames);

export const credentialRequest = z.strictObject({
  name: z.string().min(1).max(63),
  secret: secretName,
  preset: preset.optional(),
  /** HOST[:PORT], or http://HOST[:PORT] for one without TLS. */
  host: z.string().min(1).max(300).optional(),
  header: z.string().min(1).max(64).optional(),
  /** The value of the header, with one `{}` where the secret goes. */
  format: z.string().min(2).max(256).optional(),
});

export const credentialView = z.strictObject({
  name: z.string(),
  preset: preset.nullable(),
  /** The name of the secret, never its value. */
  secret: z.string(),
  services: z.array(
    z.strictObject({
      host: z.string(),
      port: z.int(),
      /** Left out: TLS. */
      scheme: z.literal('http').optional(),
      header: z.string(),
      format: z.string(),
    }),
  ),
  createdAt: z.string(),
});

export type CredentialView = z.output<typeof credentialView>;
