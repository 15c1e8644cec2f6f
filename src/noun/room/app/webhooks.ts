/** Answers requests to the webhooks that config.yaml declares. Their rooms and secrets are those of the installation's owner. */

import type { Kernel } from '../../../kernel/kernel.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import type { WebhookView } from '../api.ts';
import type { RoomRecord } from '../model/room.ts';
import type { Webhook, WebhookCounts } from '../model/webhook.ts';
import type { Room } from '../room.ts';
import { messageOf, type WebhookRequest } from '../webhook.ts';

export interface WebhooksParts extends Pick<Kernel, 'store' | 'now'> {
  readonly owner: string;
  readonly hooks: () => readonly Webhook[];
  readonly openRoom: (record: RoomRecord) => Promise<Room>;
  readonly secret: (name: string) => Buffer;
}

const none: WebhookCounts = { accepted: 0, refused: 0, lastRefusal: null };

export class Webhooks {
  readonly path = '/hooks/';
  readonly maxBodyBytes = 256 * 1024;
  readonly #parts: WebhooksParts;

  constructor(parts: WebhooksParts) {
    this.#parts = parts;
  }

  /** Throws `not_found` for a name that is not declared. Refused requests to declared webhooks are counted. */
  async answer(name: string, request: WebhookRequest): Promise<Response> {
    const hook = this.#parts.hooks().find((one) => one.name === name);
    if (hook === undefined) throw new Fault('not_found', 'there is no such webhook');
    try {
      const message = messageOf(hook, this.#parts.secret(hook.secret), request, Date.parse(this.#parts.now()));
      const { id } = await (await this.#open(hook)).post(message);
      this.#count(name, ({ accepted }) => ({ accepted: accepted + 1 }));
      return hook.verify === 'twilio' ? emptyTwiml() : Response.json({ id }, { status: 202 });
    } catch (error) {
      const at = this.#parts.now();
      const reason = asFault(error).message;
      this.#count(name, ({ refused }) => ({ refused: refused + 1, lastRefusal: { at, reason } }));
      throw error;
    }
  }

  /** The webhooks of a room. */
  of(room: string): WebhookView[] {
    const own = this.#parts.hooks().filter((hook) => hook.room === room);
    return own.map(({ name, verify }) => ({
      path: `${this.path}${name}`,
      verify,
      ...(this.#row(name)?.value ?? none),
    }));
  }

  async #open({ name, room }: Webhook): Promise<Room> {
    const row = this.#parts.store.find('room', this.#parts.owner, room);
    if (row !== null) return this.#parts.openRoom(row.value);
    throw new Fault('unavailable', `the room of the webhook ${name} does not exist`);
  }

  #row(name: string) {
    return this.#parts.store.find('webhook', this.#parts.owner, name);
  }

  #count(name: string, change: (counts: WebhookCounts) => Partial<WebhookCounts>): void {
    const { store, owner, now } = this.#parts;
    const row = this.#row(name);
    const value = { ...none, ...row?.value, ...change(row?.value ?? none) };
    const event = { at: now(), type: 'webhook.called', subject: name, data: { user: owner } };
    if (row === null)
      store.insert({ kind: 'webhook', id: `webhook-${name}`, owner, name, value }, event, { lazy: true });
    else store.update(row, value, event, { lazy: true });
  }
}

function emptyTwiml(): Response {
  return new Response('<?xml version="1.0" encoding="UTF-8"?><Response/>', { headers: { 'content-type': 'text/xml' } });
}
