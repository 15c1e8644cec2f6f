/** The hub of a user: tools over their projects, for MCP clients and for the command line. */
import { z } from 'zod';
import * as shape from '../../api/hub.ts';
import { declare } from '../route.ts';
import type { UserHub } from './user-hub.ts';

export interface HubScope {
  readonly hub: UserHub;
}

const { noun, route } = declare<HubScope>();

export const hub = noun({
  routes: [
    route('GET /v1/hub/tools', {
      id: 'listTools',
      summary: 'The tools of the hub, with their schemas',
      answer: z.array(shape.toolView),
      act: null,
      handle: async ({ scope }) => scope.hub.tools(),
    }),
    route('POST /v1/hub/call', {
      id: 'callTool',
      summary: 'Call a tool of the hub',
      body: shape.callRequest,
      answer: shape.callResult,
      act: null,
      handle: ({ scope, body, signal }) => scope.hub.callByName(body.tool, body.input ?? {}, signal),
    }),
    route('GET /v1/hub/connect', {
      id: 'connectHub',
      summary: 'MCP in lines of JSON, in frames of stdin and stdout',
      answer: 'upgrade',
      act: () => ({ verb: 'hub.connect', names: [] }),
      handle: async ({ scope, accept, begun }) => {
        begun.end('ok');
        await scope.hub.serve(accept());
      },
    }),
  ],
});
