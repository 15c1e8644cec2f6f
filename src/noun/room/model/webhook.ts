/** Webhooks: requests from outside that become messages of a room. */

export const webhookNamePattern = /^[a-z0-9][a-z0-9-]{0,50}$/;

export type Webhook = {
  /** The last part of its path, `/hooks/NAME`. */
  readonly name: string;
  readonly room: string;
  /** The name of the secret that requests are checked with. */
  readonly secret: string;
} & (
  | {
      readonly verify: 'twilio';
      /** The URL as the sender knows it, in front of any proxy: the signature covers it. */
      readonly url: string;
    }
  | {
      readonly verify: 'hmac';
      /** The header with the HMAC-SHA256 of the body in hexadecimal digits, after `sha256=` if that is there. */
      readonly header: string;
      /** The header with the seconds since 1970; then the HMAC is of `TIMESTAMP.BODY`. Null: there is none. */
      readonly timestamp: string | null;
    }
  | { readonly verify: 'bearer' }
);

/** The row of a webhook that was called. */
export interface WebhookCounts {
  readonly accepted: number;
  readonly refused: number;
  readonly lastRefusal: { readonly at: string; readonly reason: string } | null;
}
