/** Imports that break the rules of `house.ts`. The list only gets shorter. */
export const exceptions = [] as const;
