import { z } from 'zod';
import type { Entered } from './page-api.ts';

const text = z.string();

/** Where an element is: in an open view, in the home tab (a view, too), or in a message. */
const place = z.union([z.object({ view: text }), z.object({ channel: text, ts: text })]);

export type PagePlace = z.output<typeof place>;

const element = z.object({ place, block: text, action: text });

export type AtElement = z.output<typeof element>;

/** Which values fit depends on the element. */
const value = z.custom<Entered>();

const actionSchema = z.object({ as: text }).and(
  z.discriminatedUnion('do', [
    /** Text beginning with / is a slash command, anything else a message of the user. */
    z.object({
      do: z.enum(['message', 'command']),
      channel: text,
      text,
      threadTs: text.optional(),
    }),
    /** Press, choose. Refused with `confirm_needed` when the element has a `confirm` and confirmed is not true. */
    element.extend({
      do: z.literal('action'),
      value: value.optional(),
      confirmed: z.boolean().optional(),
    }),
    /** Enter something into an input. */
    element.extend({ do: z.literal('fill'), value }),
    /** Options of an external select for what was typed so far. Does not change anything. */
    element.extend({ do: z.literal('suggest'), query: text }),
    z.object({ do: z.literal('submit'), view: text }),
    /** Cancel closes one modal; `all` is the × and closes the stack. */
    z.object({ do: z.literal('close'), view: text, all: z.boolean().optional() }),
    /** `message`: for message shortcuts. */
    z.object({
      do: z.literal('shortcut'),
      callbackId: text,
      message: z.object({ channel: text, ts: text }).optional(),
    }),
    z.object({ do: z.literal('home'), tab: z.enum(['home', 'messages']).optional() }),
    /** Reload the client: ephemeral messages and open modals are gone. */
    z.object({ do: z.literal('reload') }),
  ]),
);

export type PageAction = z.output<typeof actionSchema>;

export function parseAction(given: unknown): PageAction | undefined {
  return actionSchema.safeParse(given).data;
}
