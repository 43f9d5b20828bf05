import type { PriceList } from './catalog.ts';
import { ApiError } from './errors.ts';

/** What POST /servers asks for (docs/hosting-api.md 4). */
export interface Order {
  readonly plan: string;
  readonly location: string;
  readonly image: string;
  readonly label: string;
}

// Our invention: no length limit of a label is known (docs/hosting-api.md 2.9).
const MAX_LABEL_LENGTH = 255;

/**
 * Reads a create request's body. Fields the document does not name are ignored; labels may repeat.
 * @throws ApiError bad_request when a field is missing or wrong (docs/hosting-api.md 4)
 */
export function parseOrder(body: string, prices: PriceList): Order {
  const fields = parseObject(body);
  const { plan, location, image, label } = fields;
  const { locations, images } = prices.current;
  if (typeof plan !== 'string' || !prices.findPlan(plan)) throw new ApiError('bad_request');
  if (typeof location !== 'string' || !locations.includes(location)) throw new ApiError('bad_request');
  if (typeof image !== 'string' || !images.includes(image)) throw new ApiError('bad_request');
  if (typeof label !== 'string' || !isLabel(label)) throw new ApiError('bad_request');
  return { plan, location, image, label };
}

function isLabel(label: string): boolean {
  return label.trim() !== '' && [...label].length <= MAX_LABEL_LENGTH;
}

function parseObject(body: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ApiError('bad_request');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('bad_request');
  return { ...value };
}
