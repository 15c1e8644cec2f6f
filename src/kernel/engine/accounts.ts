/** The account files inside a sandbox. */
export function accountFiles(agentUid: number, agentGid: number): { readonly passwd: string; readonly group: string } {
  const passwd = [
    'root:x:0:0:root:/root:/usr/sbin/nologin',
    `agent:x:${agentUid}:${agentGid}:agent:/home/agent:/bin/bash`,
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  ];
  const group = ['root:x:0:', 'tty:x:5:', `agent:x:${agentGid}:`, 'nogroup:x:65534:'];
  return { passwd: `${passwd.join('\n')}\n`, group: `${group.join('\n')}\n` };
}
