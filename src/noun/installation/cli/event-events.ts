import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { plain } from '../../../client/output/text.ts';
import type { Event } from '../../../model/event.ts';

const pageSize = 1000;

interface Options {
  readonly follow?: boolean;
  readonly after?: string;
}

export async function events(context: Context, { options }: Invocation<Options>): Promise<void> {
  // 0: from the oldest event that is kept.
  const after = options.after === undefined ? 0 : parseCount(options.after, '--after');
  const client = connect(context);
  for await (const event of options.follow ? client.follow(after) : past(client, after)) {
    if (context.json) context.out.document(event, 0);
    else context.out.print(line(event));
  }
}

async function* past(client: Client, start: number): AsyncGenerator<Event> {
  for (let after = start; ; ) {
    const page = await client.call('GET /v1/events', { query: { after, limit: pageSize } });
    yield* page;
    const last = page.at(-1);
    if (!last || last.seq <= after) return;
    after = last.seq;
  }
}

function line({ seq, at, type, subject, data }: Event): string {
  const details = Object.entries(data).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return plain([seq, at, type, ...(subject === '' ? [] : [subject]), ...details].join(' '));
}
