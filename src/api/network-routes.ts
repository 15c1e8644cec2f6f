/** The routes about networks; part of the table in `routes.ts`. */
import { z } from 'zod';
import { maxRules } from '../model/network.ts';
import { explainView, networkView, portRow, portView, rule } from './network.ts';
import { count, flag } from './query.ts';

const port = z.int().min(1).max(65_535);

export const networkRoutes = {
  'POST /v1/sandboxes/{name}/network': {
    id: 'changeNetwork',
    summary: 'Rules added and taken away; a sandbox that runs has them at once',
    body: z.strictObject({
      allow: z.array(rule).max(maxRules).optional(),
      deny: z.array(rule).max(maxRules).optional(),
    }),
    answer: networkView,
  },
  'POST /v1/sandboxes/{name}/network/explain': {
    id: 'explainNetwork',
    summary: 'What would happen if the sandbox asked for HOST:PORT, and why',
    body: z.strictObject({ asked: z.string().min(1).max(2000) }),
    answer: explainView,
  },
  'GET /v1/sandboxes/{name}/network/log': {
    id: 'networkLog',
    summary: 'What the sandbox tried to reach, as server-sent events',
    query: z.strictObject({ follow: flag.optional(), tail: count.optional() }),
    answer: 'sse',
  },
  'GET /v1/ports': { id: 'listPorts', summary: 'Ports that lead to servers in sandboxes', answer: z.array(portRow) },
  'POST /v1/sandboxes/{name}/ports': {
    id: 'addPort',
    summary: 'A port of this machine that leads to a server in the sandbox',
    body: z.strictObject({
      port,
      /** Left out: the same number, or a free one where that is taken. */
      hostPort: port.optional(),
      hostAddress: z.string().min(1).max(100).optional(),
    }),
    answer: portView,
  },
  'POST /v1/sandboxes/{name}/ports/remove': {
    id: 'removePort',
    summary: 'It leads there no more',
    body: z.strictObject({ port, hostPort: port.optional() }),
    answer: z.array(portView),
  },
} as const;
