/** Schemas of the grants in requests and in views of sandboxes, made from their declarations (`model/grant.ts`). */
import { z } from 'zod';
import type { FieldType } from '../model/grant.ts';
import { type GrantField, type GrantRequest, type GrantViews, grantTable } from './grant-table.ts';
import { agentGrantFields } from './table.ts';

type Schema<T> = z.ZodType<T, T>;
type Requests = { [F in GrantField]: z.ZodOptional<Schema<GrantRequest<F>[]>> };
type Views = { [F in keyof GrantViews]: Schema<GrantViews[F]> };

const maxPath = 4096;

export const grantRequests = Object.fromEntries(
  grantTable.map(([field, { request, most }]) => [field, z.array(objectOf(request)).max(most).optional()]),
) as unknown as Requests;

/** The grants that requests for sandboxes of agents and swarms may have, too. */
export const agentGrants = Object.fromEntries(agentGrantFields.map((field) => [field, grantRequests[field]])) as Pick<
  Requests,
  (typeof agentGrantFields)[number]
>;

export const grantViews = Object.fromEntries(
  grantTable.flatMap(([field, { view }]) => (view ? [[field, z.array(objectOf(view))]] : [])),
) as unknown as Views;

type Fields = Readonly<Record<string, FieldType | { readonly optional: FieldType }>>;

function objectOf(fields: Fields): z.ZodType {
  return z.strictObject(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)])));
}

function schemaOf(field: Fields[string]): z.ZodType {
  if (field === 'boolean') return z.boolean();
  if (field === 'text') return z.string();
  if (field === 'path') return z.string().startsWith('/').max(maxPath);
  if ('optional' in field) return schemaOf(field.optional).optional();
  return 'oneOf' in field ? z.enum(field.oneOf) : z.string().regex(field.pattern, field.rule);
}
