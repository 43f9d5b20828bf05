import { z } from 'zod';
import { defineButton } from '../slack/kit/button.ts';

/** An order in a button or a form; in a button, its codes are keys (`toKeys`). */
export const orderValue = z.object({
  plan: z.string().min(1),
  location: z.string().min(1),
  image: z.string().min(1),
  label: z.string().min(1),
});

export const createButton = defineButton('create', z.object({ plan: z.string().exactOptional() }));
/** Opens a review of the same order, with today's price and a confirmation ID of its own. */
export const createReviewButton = defineButton('create_review', orderValue);
export const renewButton = defineButton('renew', z.object({ id: z.number().int() }));
export const decideButton = defineButton('decide', z.object({ operationId: z.string() }));

export const passwordButton = defineButton('password', z.object({ typed: z.string() }));
