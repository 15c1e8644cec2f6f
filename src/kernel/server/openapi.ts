/** The OpenAPI document, made from the declarations of routes. */
import { z } from 'zod';
import { faultBody } from '../../lib/schema/fault-body.ts';
import { methodAndPath } from '../../lib/wire/api.ts';
import type { Route } from './route.ts';

export function openapi(version: string, routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const { method, path } = methodAndPath(route.key);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(path, route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Carrel', version, description: 'The daemon of one Carrel installation, on its unix socket.' },
    paths,
    components: { schemas: { Fault: schema(faultBody) } },
  };
}

function operation(path: string, route: Route): object {
  return {
    operationId: route.id,
    summary: route.summary,
    parameters: [...pathParameters(path), ...queryParameters(route)],
    ...(route.body ? { requestBody: bodyOf(route.body) } : {}),
    responses: {
      ...success(route),
      default: { description: 'A refusal', content: json({ $ref: '#/components/schemas/Fault' }) },
    },
  };
}

/** A missing body counts as an empty object. */
function bodyOf(body: z.ZodType): object {
  return { required: !body.safeParse({}).success, content: json(schema(body)) };
}

function success({ answer, status }: Route): object {
  if (answer === 'upgrade') return { 101: { description: 'The framed stream carrel-stream' } };
  if (answer === 'frames')
    return { 200: { description: 'Frames of carrel-stream', content: media('application/octet-stream') } };
  if (answer === 'sse') return { 200: { description: 'Server-sent events', content: media('text/event-stream') } };
  if (answer === 'document') return { 200: { description: 'An OpenAPI document', content: json({ type: 'object' }) } };
  return { [status ?? 200]: { description: status === 202 ? 'Accepted' : 'Done', content: json(schema(answer)) } };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Route): object[] {
  return Object.entries(query?.shape ?? {}).map(([name, value]) => ({
    name,
    in: 'query',
    required: false,
    schema: schema(value as z.ZodType),
  }));
}

function schema(type: z.ZodType): object {
  const { $schema, ...rest } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  return rest;
}

function json(content: object): object {
  return { 'application/json': { schema: content } };
}

function media(type: string): object {
  return { [type]: { schema: { type: 'string' } } };
}
