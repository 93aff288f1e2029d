import { defineTransform } from 'millrace';

interface Order {
  orderId: string;
  customerId: string;
  status: string;
  currency: string;
  items: { sku: string; qty: number; priceCents: number }[];
  createdAt: string;
}

interface Total {
  orderId: string;
  customerId: string;
  totalCents: number;
  currency: string;
  createdAt: string;
}

export default defineTransform<Order, Total>(({ value: order }) => {
  if (order.status === 'cancelled') return;
  const { orderId, customerId, currency, items, createdAt } = order;
  let totalCents = 0;
  for (const { qty, priceCents } of items) totalCents += qty * priceCents;
  return { key: customerId, value: { orderId, customerId, totalCents, currency, createdAt } };
});
