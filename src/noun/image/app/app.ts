/**
 * The images that sandboxes on a Docker Engine are made of. `noun/image/image.ts` has their life cycle and promises. The owner
 * builds and removes them, and lists which images every user can use. An image that a sandbox needs is not removed.
 */
import { z } from 'zod';
import { declare, definedDetail } from '../../../kernel/server/route.ts';
import { section } from '../../../kernel/settings/section.ts';
import { encodeJson } from '../../../lib/wire/stream.ts';
import * as shape from '../api.ts';
import type { UserImages } from './user-images.ts';

export interface ImageScope {
  readonly images: UserImages;
}

const { noun, route } = declare<ImageScope>();

export const image = noun({
  config: [
    section('images', {
      schema: z
        .array(z.string().min(1).max(512))
        .max(1000)
        .optional()
        .meta({
          description: 'Images that `--image` accepts: `NAME`, or `NAME@sha256:…` for that content alone.',
          default: [],
          examples: [['debian:12', 'node:22']],
        }),
      read: (images): { images: readonly string[] } => ({ images: images ?? [] }),
    }),
  ] as const,
  routes: [
    route('GET /v1/images', {
      id: 'listImages',
      summary: 'The images that sandboxes of the user can be made of',
      answer: z.array(shape.imageView),
      usesSettings: true,
      act: null,
      handle: ({ scope }) => scope.images.list(),
    }),
    route('POST /v1/images/build', {
      id: 'buildImage',
      summary: 'Build the image of a project, or the base image; frames of progress, then one result',
      body: shape.buildRequest,
      answer: 'frames',
      usesSettings: true,
      act: ({ body }) => ({ verb: 'image.build', names: [], detail: definedDetail({ project: body.project }) }),
      handle: async ({ scope, body, signal }) => {
        const build = scope.images.order(body);
        return async (write) => {
          const built = await build((event) => write(encodeJson('progress', event)), signal);
          return encodeJson('result', built);
        };
      },
    }),
    route('POST /v1/images/remove', {
      id: 'removeImage',
      summary: 'Remove an image that was built here and that no sandbox uses',
      body: shape.removeImageRequest,
      answer: shape.imageView,
      act: ({ body: { name } }) => ({ verb: 'image.remove', names: [name] }),
      handle: ({ scope, body }) => scope.images.remove(body.name),
    }),
  ],
});
