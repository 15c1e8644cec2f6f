/** The hub as a service of sandboxes: `--service hub`, which every installation has without declaring it. */

import type { DeclaredService } from '../../network/model/service.ts';
import type { SandboxSpec } from '../../sandbox/model.ts';

/** The port on 127.0.0.1 inside. */
const port = 17_008;

/** The place of a service that the daemon itself answers. */
export const hubPlace = 'hub';
export const hubService: DeclaredService = { name: 'hub', port, to: hubPlace, identity: 'headers' };

const url = `http://127.0.0.1:${port}/mcp`;
/** Programs made for CodeBuddy read the second variable. */
export const hubEnv = { CARREL_HUB_URL: url, CODEBUDDY_URL: url } as const;

/** Whether the sandbox was granted the hub. A service `hub` that the owner declared has another port. */
export function hasHub({ services }: Pick<SandboxSpec, 'services'>): boolean {
  return services?.some((one) => one.name === hubService.name && one.port === port) === true;
}
