/** Imports that break the rules of `house.ts`. The list only gets shorter. */
export const exceptions = [
  'src/kernel/server/port.ts → src/noun/hub/token/authentication.ts',
  'src/kernel/server/port.ts → src/noun/network/model/service.ts',
  'src/kernel/server/token-keys.ts → src/noun/hub/token/token.ts',
] as const;
