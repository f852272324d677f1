"""Models of transformers: three steps of training each, and texts by greedy, beam and random search."""
import logging
import tempfile

import torch
import transformers as t

logging.disable(logging.WARNING)
SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
GROUPED = SMALL | dict(vocab_size=50, num_key_value_heads=2)


def ids(*shape, vocabulary=50):
    return torch.randint(3, vocabulary, shape)


def train(model, steps=3, **inputs):
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=1e-3)
    for step in range(steps):
        torch.manual_seed(step)
        loss = model(**inputs).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(f"{type(model).__name__} step {step}: loss {loss.item():.4f} norm {norm.item():.3f}")
    return model.eval()


def write(model, text, **how):
    torch.manual_seed(1)
    print(type(model).__name__, "writes", model.generate(text, pad_token_id=0, **how).tolist())


def of_text():
    x = ids(3, 10)
    gpt2 = train(t.GPT2LMHeadModel(t.GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4)), input_ids=x, labels=x)
    write(gpt2, x[:1, :4], max_new_tokens=8, do_sample=False)
    write(gpt2, x[:2, :4], max_new_tokens=6, num_beams=3)
    write(gpt2, x[:1, :4], max_new_tokens=8, do_sample=True, top_k=10, top_p=0.9, temperature=0.8)
    with tempfile.TemporaryDirectory() as folder:
        gpt2.save_pretrained(folder)
        print("saved and loaded:", torch.equal(gpt2(x).logits, t.GPT2LMHeadModel.from_pretrained(folder).eval()(x).logits))
    x = ids(2, 12)
    write(train(t.LlamaForCausalLM(t.LlamaConfig(**GROUPED)), input_ids=x, labels=x), x[:1, :5], max_new_tokens=8, do_sample=False)
    qwen = train(t.Qwen2ForCausalLM(t.Qwen2Config(**GROUPED)), input_ids=x, labels=x)
    write(qwen, x[:, :5], max_new_tokens=6, do_sample=False, attention_mask=torch.tensor([[0, 1, 1, 1, 1], [1] * 5]))
    train(t.MixtralForCausalLM(t.MixtralConfig(**GROUPED, num_local_experts=4, output_router_logits=True)), input_ids=x, labels=x)
    train(t.MambaForCausalLM(t.MambaConfig(vocab_size=50, hidden_size=32, state_size=8, num_hidden_layers=2)), input_ids=x, labels=x)
    t5 = t.T5ForConditionalGeneration(t.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0))
    write(train(t5, input_ids=x, labels=ids(2, 5)), x, max_new_tokens=5)
    train(t.BertForSequenceClassification(t.BertConfig(vocab_size=50, num_labels=3, **SMALL)), input_ids=x, labels=torch.tensor([0, 2]))
    train(t.RobertaForTokenClassification(t.RobertaConfig(vocab_size=50, num_labels=3, **SMALL)), input_ids=x, labels=torch.randint(0, 3, (2, 12)))
    train(t.DistilBertForMaskedLM(t.DistilBertConfig(vocab_size=50, dim=32, n_layers=2, n_heads=4, hidden_dim=64)), input_ids=x, labels=x)
    far = dict(relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"])
    train(t.DebertaV2ForSequenceClassification(t.DebertaV2Config(vocab_size=50, num_labels=2, **far, **SMALL)), input_ids=x, labels=torch.tensor([0, 1]))


def of_pictures_and_sound():
    pictures, classes, seen = torch.randn(2, 3, 32, 32), torch.tensor([0, 2]), dict(image_size=32, patch_size=8)
    train(t.ViTForImageClassification(t.ViTConfig(num_labels=3, **seen, **SMALL)), pixel_values=pictures, labels=classes)
    halves = dict(decoder_hidden_size=16, decoder_num_hidden_layers=1, decoder_num_attention_heads=2, decoder_intermediate_size=32)
    train(t.ViTMAEForPreTraining(t.ViTMAEConfig(**halves, **seen, **SMALL)), pixel_values=pictures)
    windows = dict(embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
    train(t.SwinForImageClassification(t.SwinConfig(image_size=32, patch_size=4, num_labels=3, **windows)), pixel_values=pictures, labels=classes)
    train(t.ResNetForImageClassification(t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=3)),
          pixel_values=pictures, labels=classes)
    stages = dict(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2],
                  mlp_ratios=[2, 2], decoder_hidden_size=16)
    train(t.SegformerForSemanticSegmentation(t.SegformerConfig(num_labels=4, **stages)), pixel_values=pictures, labels=torch.randint(0, 4, (2, 32, 32)))
    text = dict(vocab_size=50, max_position_embeddings=16, eos_token_id=2, bos_token_id=1, pad_token_id=0)
    train(t.CLIPModel(t.CLIPConfig(text_config=text | SMALL, vision_config=seen | SMALL, projection_dim=16)), input_ids=ids(2, 8), pixel_values=pictures, return_loss=True)
    ears = dict(num_mel_bins=20, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64)
    whisper = t.WhisperConfig(vocab_size=60, max_source_positions=50, max_target_positions=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, **ears)
    train(t.WhisperForConditionalGeneration(whisper), input_features=torch.randn(2, 20, 100), labels=ids(2, 6))
    waves = dict(conv_dim=(16, 16), conv_stride=(4, 4), conv_kernel=(8, 8), num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, num_feat_extract_layers=2)
    train(t.Wav2Vec2ForCTC(t.Wav2Vec2Config(vocab_size=20, mask_time_prob=0.0, ctc_loss_reduction="mean", **waves, **SMALL)), input_values=torch.randn(2, 800),
          labels=ids(2, 5, vocabulary=19))


if __name__ == "__main__":
    torch.manual_seed(0)
    of_text()
    of_pictures_and_sound()
